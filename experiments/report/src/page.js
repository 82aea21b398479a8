"use strict";
(function () {
  var all = function (where, what) { return Array.prototype.slice.call(where.querySelectorAll(what)); };
  // A click on a heading sorts its table; another one turns the order.
  all(document, "table.sheet thead button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
      var at = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending";
      all(table, "thead th").forEach(function (th) { th.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var key = function (row) {
        var cell = row.cells[at];
        var value = cell && cell.dataset.v;
        return value === undefined ? null : Number(value);
      };
      var numbers = all(body, "tr").some(function (row) { return key(row) !== null; });
      var rows = all(body, "tr").sort(function (a, b) {
        if (!numbers) {
          var order = a.cells[at].textContent.localeCompare(b.cells[at].textContent);
          return down ? -order : order;
        }
        var x = key(a), y = key(b);
        // Cells without a number come last in both orders.
        if (x === null || y === null) { return (x === null) - (y === null); }
        return down ? y - x : x - y;
      });
      rows.forEach(function (row) { body.appendChild(row); });
    });
  });
  // Methods are shown or not, in tables and figures alike.
  all(document, "input[data-toggle]").forEach(function (box) {
    var show = function () {
      all(document, "[data-m=\"" + box.dataset.toggle + "\"]").forEach(function (e) {
        if (box.checked) { e.removeAttribute("hidden"); } else { e.setAttribute("hidden", ""); }
      });
    };
    box.addEventListener("change", show);
    show();
  });
  // Rows are shown when they hold the text.
  var filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", function () {
      var text = filter.value.toLowerCase();
      all(document, "table.sheet tbody tr").forEach(function (row) {
        row.style.display = row.textContent.toLowerCase().indexOf(text) < 0 ? "none" : "";
      });
    });
  }
  // The SVG of a figure is saved from the page itself, which may have come by mail.
  all(document, "a.svg").forEach(function (link) {
    link.addEventListener("click", function () {
      var svg = link.closest("figure").querySelector("svg");
      var text = new XMLSerializer().serializeToString(svg);
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    });
  });
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all(document, "details:not([open]):not(.screen)");
    closed.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); });
})();
