//! Graph and hypergraph partitioners, behind one trait.
