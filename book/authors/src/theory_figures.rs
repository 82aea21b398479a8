//! The schematic figures of the manual.
//!
//! What is drawn is computed: closures by [`Closure`], questions by the selectors themselves.

use std::fmt::Write;

use mustlink::closure::{Closure, EntailedWeight, OnConflict};
use mustlink::contract::fixtures;
use mustlink::registry::build_default;
use mustlink::roles::Event;
use mustlink::{prelude::*, selection};
use mustlink_report::{CANNOT_LINK, MUST_LINK};

/// Paper around letters, so that lines do not cross them.
const HALO: &str = "stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"";
const SIDE: f64 = 250.0;
const TOP: f64 = 44.0;
/// Space between the frame and the unit square.
const MARGIN: f64 = 10.0;
const BLACK: &str = "#222";
/// Colours of classes and clusters, by number. Must-links and cannot-links have other colours.
const CLASSES: [&str; 3] = ["#009e73", "#cc79a7", "#e69f00"];
/// Distance from which two numbers do not touch each other.
const APART: f64 = 13.0;

/// One panel: a square with a caption above it.
struct Panel {
    left: f64,
    svg: String,
    /// Places of the numbers so far.
    numbers: Vec<(f64, f64)>,
}

impl Panel {
    fn new(number: usize, caption: &str) -> Self {
        let left = 16.0 + number as f64 * (SIDE + 20.0);
        let svg = format!(
            "<text x=\"{left}\" y=\"30\">{caption}</text>\n<rect x=\"{left}\" y=\"{TOP}\" \
             width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#bbb\"/>\n"
        );
        Panel { left, svg, numbers: Vec::new() }
    }

    /// The place of a point of the unit square; the second coordinate grows upwards.
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let side = SIDE - 2.0 * MARGIN;
        (self.left + MARGIN + x * side, TOP + MARGIN + (1.0 - y) * side)
    }

    fn link(&mut self, a: (f64, f64), b: (f64, f64), kind: Kind, dashed: bool) {
        let ((x1, y1), (x2, y2)) = (self.at(a), self.at(b));
        let colour = if kind == Kind::MustLink { MUST_LINK } else { CANNOT_LINK };
        let width = if dashed { "1\" stroke-dasharray=\"3 3" } else { "2.2" };
        let _ = writeln!(
            self.svg,
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>"
        );
    }

    /// An object of a class, which has a shape and a colour.
    fn object(&mut self, p: (f64, f64), class: u32) {
        let (x, y) = self.at(p);
        let mark = match class {
            0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
            1 => {
                format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"", x - 3.5, y - 3.5)
            }
            _ => format!("<path d=\"M{x:.1} {:.1}l4.5 8h-9z\"", y - 5.0),
        };
        let colour = CLASSES[class as usize % CLASSES.len()];
        let _ =
            writeln!(self.svg, "{mark} fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.6\"/>");
    }

    /// An object with a name.
    fn named(&mut self, p: (f64, f64), name: &str) {
        let (x, y) = self.at(p);
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{BLACK}\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" \
             {HALO}>{name}</text>",
            x + 7.0,
            y - 6.0
        );
    }

    /// The number of a question, near the middle of its pair and apart from the numbers so far.
    fn number(&mut self, a: (f64, f64), b: (f64, f64), number: usize) {
        let ((x1, y1), (x2, y2)) = (self.at(a), self.at(b));
        let length = (x2 - x1).hypot(y2 - y1);
        let (right, down) = ((y1 - y2) / length, (x2 - x1) / length);
        let mut places = [0.0, 11.0, -11.0, 22.0, -22.0].into_iter().flat_map(|aside| {
            [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map(|part| {
                let (x, y) = (x1 + part * (x2 - x1), y1 + part * (y2 - y1));
                (x + aside * right, y + aside * down)
            })
        });
        let nearest = |(x, y): (f64, f64)| {
            let distances = self.numbers.iter().map(|(a, b)| (x - a).hypot(y - b));
            distances.fold(f64::INFINITY, f64::min)
        };
        let is_inside = |(x, y): (f64, f64)| {
            let (across, below) = (x - self.left, y - TOP);
            [across, below].iter().all(|v| (6.0..=SIDE - 6.0).contains(v))
        };
        let free = places.find(|place| is_inside(*place) && nearest(*place) >= APART);
        let (x, y) = free.unwrap_or(((x1 + x2) / 2.0, (y1 + y2) / 2.0));
        self.numbers.push((x, y));
        let _ = writeln!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"middle\" {HALO}>{number}</text>",
            y + 3.5
        );
    }
}

fn figure(title: &str, panels: &[Panel]) -> String {
    let (width, height) = (12.0 + panels.len() as f64 * (SIDE + 20.0), TOP + SIDE + 16.0);
    let mut s = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" \
         fill=\"#222\">\n<title>{title}</title>\n<rect width=\"{width}\" height=\"{height}\" \
         fill=\"#fff\"/>\n"
    );
    panels.iter().for_each(|p| s.push_str(&p.svg));
    s + "</svg>\n"
}

/// Given and entailed constraints, and a contradiction with its witness.
fn closure() -> String {
    let objects = [
        (0.15, 0.75),
        (0.32, 0.88),
        (0.42, 0.62),
        (0.8, 0.75),
        (0.72, 0.42),
        (0.2, 0.2),
        (0.55, 0.14),
    ];
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let given = [
        Constraint::must(0, 1),
        Constraint::must(1, 2),
        Constraint::must(3, 4),
        Constraint::cannot(2, 3),
        Constraint::cannot(4, 6),
    ];
    let draw = |number, caption: &str, links: &[Constraint], dashed: &[Constraint]| {
        let mut panel = Panel::new(number, caption);
        let ends = |c: &Constraint| (objects[c.i as usize], objects[c.j as usize]);
        for (links, dashed) in [(dashed, true), (links, false)] {
            for c in links {
                let (a, b) = ends(c);
                panel.link(a, b, c.kind, dashed);
            }
        }
        objects.iter().zip(names).for_each(|(p, name)| panel.named(*p, name));
        panel
    };
    let n = objects.len();
    let constraints = Constraints::new(n, given).expect("canonical");
    let closed = Closure::new(&constraints, n, OnConflict::Error).expect("consistent");
    let all = closed.pairs(EntailedWeight::Bottleneck, 100).expect("few");
    let known = |c: &&Constraint| given.iter().any(|g| (g.i, g.j) == (c.i, c.j));
    let entailed: Vec<Constraint> = all.iter().filter(|c| !known(c)).copied().collect();
    let broken: Vec<Constraint> =
        given[..2].iter().copied().chain([Constraint::cannot(0, 2)]).collect();
    let of = |links: &[Constraint]| Constraints::new(n, links.iter().copied()).expect("canonical");
    let conflict = Closure::new(&of(&broken), n, OnConflict::Keep).expect("kept");
    let witness = &conflict.witnesses()[0];
    let chain: Vec<&str> = witness.path.iter().map(|&i| names[i as usize]).collect();
    let (i, j) = (names[witness.cannot.0 as usize], names[witness.cannot.1 as usize]);
    let caption = format!("contradiction: {i}–{j} against {}", chain.join("–"));
    let panels = [
        draw(0, "given: must-links and cannot-links", &given, &[]),
        draw(1, "dashed: what they entail", &given, &entailed),
        draw(2, &caption, &broken, &[]),
    ];
    figure("Closure of a set of constraints", &panels)
}

/// The first questions of three selectors about the same objects.
fn questions() -> String {
    let (x, classes) = fixtures::groups(12, 2, 0.75, 5);
    let largest = x.iter().fold(0.0f64, |m, v| m.max(*v)) * 1.05;
    let at = |i: usize| (x[[i, 0]] / largest, x[[i, 1]] / largest);
    let problem = Problem::new(Data::dense(x.clone()).expect("finite")).with_k(3);
    let panels: Vec<Panel> = ["random_pairs", "explore_consolidate", "committee"]
        .into_iter()
        .enumerate()
        .map(|(number, tag)| {
            let ctx = Context::new(7);
            let truth = classes.iter().map(|&c| Some(c)).collect();
            let oracle = build_default::<dyn Oracle>("truth").expect("linked");
            let mut oracle =
                oracle.open(&Scene::with_labels(truth, ctx.clone())).expect("it opens");
            let selector = build_default::<dyn QuerySelector>(tag).expect("linked");
            let asked =
                selection::run(&*selector, &problem, &mut *oracle, Some(12), &[], None, &ctx);
            let mut panel = Panel::new(number, tag);
            let mut pairs = Vec::new();
            for event in asked.expect("it asks").events {
                match event {
                    Event::Asked { subject, reference, .. } => {
                        pairs.push((at(subject as usize), at(reference as usize)));
                    }
                    Event::Told { reply, .. } => {
                        let kind = if reply == Reply::MustLink {
                            Kind::MustLink
                        } else {
                            Kind::CannotLink
                        };
                        let (a, b) = pairs[pairs.len() - 1];
                        panel.link(a, b, kind, false);
                    }
                    _ => {}
                }
            }
            classes.iter().enumerate().for_each(|(i, &class)| panel.object(at(i), class));
            pairs.iter().enumerate().for_each(|(t, (a, b))| panel.number(*a, *b, t + 1));
            panel
        })
        .collect();
    figure("The first twelve questions of three selectors", &panels)
}

/// Three clusters, long in different directions, as k-means and LAC find them. The objects are those of
/// the commands in theory/feature-weights.md.
fn elongated() -> String {
    let clusters = [(0.0, 0.0, 6.0, 0.5), (5.0, 4.0, 0.5, 3.0), (-3.0, 4.0, 0.5, 3.0)];
    let size = 60;
    let at = |(j, i): (usize, usize)| {
        let (x, y, a, b) = clusters[j];
        let (r, t) = (((i as f64 + 0.5) / size as f64).sqrt(), 2.399963 * i as f64);
        let round = |v: f64| (v * 1000.0).round() / 1000.0;
        (round(x + a * r * t.cos()), round(y + b * r * t.sin()))
    };
    let members = |j: usize| (0..size).map(move |i| (j, i));
    let objects: Vec<(f64, f64)> = (0..clusters.len()).flat_map(members).map(at).collect();
    let values = objects.iter().flat_map(|p| [p.0, p.1]).collect();
    let x = ndarray::Array2::from_shape_vec((objects.len(), 2), values).expect("two features");
    let problem = Problem::new(Data::dense(x).expect("finite")).with_k(clusters.len());
    let found = |method: &str| {
        let method: Box<dyn BaseClusterer> = serde_json::from_str(method).expect("a method");
        method.cluster(&problem, &Context::new(0)).expect("it clusters").labels
    };
    let classes: Vec<u32> = (0..objects.len()).map(|i| (i / size) as u32).collect();
    let captions = ["three clusters", "kmeans", "lac, h = 1"];
    let labels = [classes, found(r#"{"type": "kmeans"}"#), found(r#"{"type": "lac", "h": 1.0}"#)];
    let panels: Vec<Panel> = captions
        .into_iter()
        .zip(&labels)
        .enumerate()
        .map(|(number, (caption, labels))| {
            let mut panel = Panel::new(number, caption);
            for (p, &label) in objects.iter().zip(labels) {
                panel.object(((p.0 + 7.0) / 14.0, (p.1 + 3.5) / 14.0), label);
            }
            panel
        })
        .collect();
    figure("Clusters that are long in different directions", &panels)
}

/// The files of the figures.
pub const FIGURES: [&str; 3] = ["closure.svg", "questions.svg", "elongated.svg"];

/// The figure with this name.
pub fn draw(name: &str) -> String {
    match name {
        "closure.svg" => closure(),
        "elongated.svg" => elongated(),
        _ => questions(),
    }
}
