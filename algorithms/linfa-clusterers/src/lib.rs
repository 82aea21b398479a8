//! Clusterers of linfa as base clusterers. One file each.
