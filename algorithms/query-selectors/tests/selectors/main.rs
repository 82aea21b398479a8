//! Promises of the selectors, tested on traces, random problems and real data.

mod boundary;
mod cobra;
mod cobras;
mod committee;
mod explore_consolidate;
mod min_max_selection;
mod ncobras;
mod npu;
mod pairs;
mod random_pairs;
mod regression;
mod support;
