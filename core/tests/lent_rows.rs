//! Rows in borrowed memory are read in place.

use std::sync::Arc;

use mustlink_core::{Data, Error};
use ndarray::array;

#[test]
fn lent_rows_are_read_where_they_are() {
    let values: Arc<Vec<f64>> = Arc::new(vec![3.0, 4.0, 0.0, 1.0, -2.0, 0.5]);
    let own = Data::dense(array![[3.0, 4.0], [0.0, 1.0], [-2.0, 0.5]]).unwrap();
    let lent = Data::lent(values.clone(), (3, 2)).unwrap();
    assert_eq!(lent.dense_slice().unwrap().as_ptr(), values.as_ptr());
    assert_eq!((lent.digest(), lent.to_dense()), (own.digest(), own.to_dense()));
    assert_eq!((lent.norm2(0), lent.bytes()), (25.0, own.bytes()));
    let (some, same) = (lent.subset(&[2, 0]), own.subset(&[2, 0]));
    assert_eq!((some.to_dense(), some.digest()), (same.to_dense(), same.digest()));
    // Whoever lends keeps them as long as anybody reads.
    let still = Arc::downgrade(&values);
    drop((values, lent));
    assert!(still.upgrade().is_some());
    drop(some);
    assert!(still.upgrade().is_none());
}

#[test]
fn lent_rows_are_checked() {
    let lent = |values: Vec<f64>, shape| Data::lent(Arc::new(values), shape);
    let missing = Error::NonFinite { row: 1, col: 0 };
    assert_eq!(lent(vec![1.0, f64::NAN], (2, 1)).unwrap_err(), missing);
    assert_eq!(lent(vec![], (0, 3)).unwrap_err(), Error::EmptyData);
    for shape in [(2, 2), (usize::MAX, 2)] {
        let refused = lent(vec![1.0; 3], shape).unwrap_err().to_string();
        assert!(refused.contains("got 3"), "{refused}");
    }
}
