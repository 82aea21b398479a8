//! The objects with each label.

/// Objects grouped by label, in index order: offsets (k + 1) and the objects. Objects with a label
/// outside `0..k` are left out.
pub fn by_label(labels: &[u32], k: usize) -> (Vec<usize>, Vec<u32>) {
    let mut offsets = vec![0usize; k + 1];
    for &l in labels.iter().filter(|&&l| (l as usize) < k) {
        offsets[l as usize + 1] += 1;
    }
    for h in 0..k {
        offsets[h + 1] += offsets[h];
    }
    let mut next = offsets.clone();
    let mut order = vec![0u32; offsets[k]];
    for (i, &l) in labels.iter().enumerate().filter(|(_, l)| (**l as usize) < k) {
        order[next[l as usize]] = i as u32;
        next[l as usize] += 1;
    }
    (offsets, order)
}
