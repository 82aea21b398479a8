//! Which pair is worth asking about next? One selector per file.
//!
//! [`neighbourhoods`] is no selector but what several share: the bookkeeping of neighbourhoods and
//! the routine that asks where an object belongs. So is [`super_instances`]: groups of objects that are
//! taken for one.

automod::dir!(pub "src");
