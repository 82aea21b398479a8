//! Matrices as numpy writes them.

use mustlink_datasets::{OpenOptions, open};
use ndarray::array;

#[test]
fn a_numpy_file_is_its_matrix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("three.npy");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend([0.5_f32, -2.0, 3.0, 4.0, 5.25, 6.0].iter().flat_map(|v| v.to_le_bytes()));
    std::fs::write(&path, &bytes).unwrap();
    let path = path.to_str().unwrap();
    let set = open(path, &OpenOptions::default()).unwrap();
    assert_eq!(
        (set.name.as_str(), set.ids.is_none(), set.classes.is_none()),
        ("three", true, true)
    );
    let expected = array![[0.5, -2.0], [3.0, 4.0], [5.25, 6.0]];
    assert_eq!(set.data.as_array().unwrap(), expected);
    // It has no columns by name.
    let named = OpenOptions { class_column: Some("class".into()), ..OpenOptions::default() };
    assert!(open(path, &named).unwrap_err().to_string().contains("only a CSV has columns"));
    // Nor cells to be read in another way.
    let ways = [
        (OpenOptions { no_header: true, ..OpenOptions::default() }, "--no-header"),
        (OpenOptions { separator: Some(';'), ..OpenOptions::default() }, "--sep"),
        (OpenOptions { decimal: Some(','), ..OpenOptions::default() }, "--decimal"),
        (OpenOptions { missing: vec!["9".into()], ..OpenOptions::default() }, "--na"),
    ];
    for (options, way) in ways {
        for data in [path, "builtin:iris"] {
            let message = open(data, &options).unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "{}: is not a CSV, and {way} is for CSV files only",
                    data.trim_start_matches("builtin:")
                )
            );
        }
    }
    let none = String::from_utf8_lossy(&bytes[10..128]).replace("(3, 2)", "(0, 2)");
    std::fs::write(path, [&bytes[..10], none.as_bytes()].concat()).unwrap();
    let message = open(path, &OpenOptions::default()).unwrap_err().to_string();
    assert_eq!(message, format!("{path}: holds no rows or no columns"));
    std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    let message = open(path, &OpenOptions::default()).unwrap_err().to_string();
    assert!(message.contains("is it cut off?"), "{message}");
}
