//! A real browser, driven through ChromeDriver.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::send;
use super::skipped;

pub struct Browser {
    driver: Child,
    host: String,
    session: String,
    _profile: TempDir,
}

/// The program of that name on the path.
fn program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

impl Browser {
    /// A browser, or `None` with a message if none is installed.
    pub fn start() -> Option<Self> {
        let chromium =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(program);
        let (Some(chromium), Some(driver)) = (chromium, program("chromedriver")) else {
            skipped("no chromium and chromedriver on the path");
            return None;
        };
        let mut driver = Command::new(driver);
        driver.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = driver.spawn().unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|l| l.trim_end_matches('.').rsplit_once("on port ")?.1.parse::<u16>().ok())
            .find(|&port| port != 0)
            .expect("the port of chromedriver");
        // Its pipe is read on, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let host = format!("127.0.0.1:{port}");
        let profile = tempfile::tempdir().unwrap();
        let folder = format!("--user-data-dir={}", profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            &folder,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": chromium, "args": arguments },
        } } });
        let made = send(&host, "POST", "/session", &[], &wanted.to_string());
        let session = made.json()["value"]["sessionId"].as_str().map(str::to_string);
        let session = session.unwrap_or_else(|| panic!("{}", made.json()));
        Some(Browser { driver, host, session, _profile: profile })
    }

    fn post(&self, what: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{what}", self.session);
        let got = send(&self.host, "POST", &path, &[], &body.to_string());
        assert_eq!(got.status, 200, "{what}: {}", got.json());
        got.json()["value"].clone()
    }

    pub fn go(&self, address: &str) {
        self.post("url", &json!({ "url": address }));
    }

    pub fn reload(&self) {
        self.post("refresh", &json!({}));
    }

    /// The value that a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": [] }))
    }

    pub fn text(&self, id: &str) -> String {
        let found = self.run(&format!("return document.getElementById('{id}').innerText"));
        found.as_str().unwrap().to_string()
    }

    /// Waits until a condition holds.
    pub fn wait(&self, condition: &str) {
        for _ in 0..600 {
            if self.run(&format!("return Boolean({condition})")) == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let page = self.run("return document.body.innerText");
        panic!("never came: {condition}; the page:\n{}", page.as_str().unwrap_or_default());
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &[&str]) {
        for key in keys {
            let down = json!({ "type": "keyDown", "value": key });
            let up = json!({ "type": "keyUp", "value": key });
            let keyboard = json!({ "type": "key", "id": "keyboard", "actions": [down, up] });
            self.post("actions", &json!({ "actions": [keyboard] }));
        }
    }

    fn command(&self, command: &str, params: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": params }))
    }

    /// The window, in pixels, with a light or a dark page.
    pub fn look(&self, width: u32, dark: bool) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.command("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.command("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// A finger from one place to another, both in pixels.
    pub fn swipe(&self, from: (f64, f64), to: (f64, f64)) {
        let touch = |kind: &str, at: Option<(f64, f64)>| {
            let points: Vec<Value> = at.iter().map(|(x, y)| json!({ "x": x, "y": y })).collect();
            let touch = json!({ "type": kind, "touchPoints": points });
            self.command("Input.dispatchTouchEvent", &touch);
        };
        self.command("Emulation.setTouchEmulationEnabled", &json!({ "enabled": true }));
        touch("touchStart", Some(from));
        touch("touchMove", Some(to));
        touch("touchEnd", None);
    }

    /// A picture of the window into MUSTLINK_SCREENSHOTS, where that is set.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("MUSTLINK_SCREENSHOTS") else { return };
        let path = format!("/session/{}/screenshot", self.session);
        let got = send(&self.host, "GET", &path, &[], "").json();
        let bytes = decoded(got["value"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends its browser too, also after a test that failed.
        if let Ok(mut stream) = TcpStream::connect(&self.host) {
            let (session, host) = (&self.session, &self.host);
            let head = format!("DELETE /session/{session} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for b in text.bytes().filter(|&b| b != b'=') {
        bits = bits << 6 | u32::from(digit(b));
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}
