// Reads charts: values under the pointer and by arrow keys, and a picture to keep. Values come from attributes.
"use strict";

{
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 62, top: 44, right: 20, bottom: 8 };
  const LINE = 17;
  const LETTER = 6.4;
  const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "font-family", "font-size", "font-weight", "vector-effect"];

  const make = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  class Chart {
    constructor(place) {
      this.place = place;
      this.drawing = place.querySelector(".drawing");
      const { periods, before } = place.closest("[data-periods]").dataset;
      this.periods = JSON.parse(periods);
      this.comparedWith = JSON.parse(before);
      this.values = place.dataset.values.split("|");
      this.valuesBefore = place.dataset.valuesBefore?.split("|");
      this.changes = place.dataset.changes?.split("|");
      this.days = JSON.parse(place.closest("[data-periods]").dataset.days ?? "[]");
      this.heights = this.drawing.dataset.places.split(" ").map(Number);
      this.name = this.drawing.querySelector("title").textContent;
      this.index = -1;
      if (!this.periods.length) return;
      // The native tooltip of a title would cover the reading.
      this.drawing.setAttribute("aria-label", this.name);
      place.tabIndex = 0;
      place.setAttribute("role", "slider");
      place.setAttribute("aria-label", `Values of ${this.name}`);
      place.setAttribute("aria-valuemin", "1");
      place.setAttribute("aria-valuemax", String(this.periods.length));
      this.announce(this.periods.length - 1);
      place.addEventListener("pointermove", (event) => this.follow(event));
      // A finger that taps leaves the reading there until the next tap, wherever that is.
      place.addEventListener("pointerdown", (event) => this.follow(event));
      place.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.clear());
      place.addEventListener("keydown", (event) => this.step(event));
      if (place.dataset.rows) {
        place.classList.add("opens");
        // A finger that taps reads the value; the table has the same links.
        place.addEventListener("click", (event) => event.pointerType === "mouse" && this.open(this.index));
      }
      place.addEventListener("focus", () => place.matches(":focus-visible") && this.show(this.periods.length - 1));
      place.addEventListener("blur", () => this.clear());
    }

    // The period, its value, that of the compared range with its own period, and how they differ.
    textsAt(index) {
      const when = this.comparedWith[index];
      const value = this.valuesBefore?.[index];
      const before = value && when ? `${when}: ${value}` : value ? `Before: ${value}` : "";
      return [this.periods[index], this.values[index], before, this.changes?.[index] ?? ""];
    }

    // The list of what was counted in a period.
    open(index) {
      const { rows } = this.place.dataset;
      if (!rows || !this.days[index]) return;
      const [start, end] = this.days[index];
      location.assign(`${rows}${rows.includes("start_date=") ? "" : `&start_date=${start}`}&end_date=${end}`);
    }

    announce(index) {
      const [period, value, before, change] = this.textsAt(index);
      const text = `${period}: ${value}${before ? `, ${before}` : ""}${change ? `, ${change}` : ""}`;
      this.place.setAttribute("aria-valuenow", String(index + 1));
      this.place.setAttribute("aria-valuetext", text);
    }

    follow(event) {
      const box = this.drawing.getBoundingClientRect();
      const index = Math.floor(((event.clientX - box.left) / box.width) * this.periods.length);
      if (index >= 0 && index < this.periods.length) this.show(index);
      else this.clear();
    }

    step(event) {
      const last = this.periods.length - 1;
      const at = this.index < 0 ? last : this.index;
      const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last };
      if (event.key === "Escape") this.clear();
      if (event.key === "Enter") this.open(at);
      if (!(event.key in to)) return;
      event.preventDefault();
      this.show(Math.max(0, Math.min(last, to[event.key])));
    }

    show(index) {
      if (index === this.index) return;
      this.clear();
      this.index = index;
      const x = `${((index + 0.5) / this.periods.length) * 100}%`;
      const bottom = this.drawing.getAttribute("height") - 24;
      this.marks = [
        make("line", { class: "cursor", x1: x, x2: x, y1: 4, y2: bottom }),
        make("circle", { class: "point", cx: x, cy: this.heights[index], r: 4.5 }),
      ];
      this.drawing.append(...this.marks);
      this.place.append(this.reading(index));
      this.announce(index);
    }

    reading(index) {
      const box = document.createElement("div");
      box.className = "reading";
      box.setAttribute("aria-hidden", "true");
      const [period, value, ...others] = this.textsAt(index);
      const lines = [["span", period], ["strong", value], ...others.filter(Boolean).map((text) => ["span", text])];
      for (const [tag, text] of lines) box.append(Object.assign(document.createElement(tag), { textContent: text }));
      const start = this.drawing.getBoundingClientRect().left - this.place.getBoundingClientRect().left;
      const at = start + ((index + 0.5) / this.periods.length) * this.drawing.getBoundingClientRect().width;
      this.place.append(box);
      const room = this.place.clientWidth - box.offsetWidth;
      const beside = at + 14 > room ? at - box.offsetWidth - 14 : at + 14;
      box.style.left = `${Math.max(0, Math.min(room, beside))}px`;
      return box;
    }

    clear() {
      this.index = -1;
      for (const mark of this.marks ?? []) mark.remove();
      this.place.querySelector(".reading")?.remove();
      this.marks = [];
    }
  }

  // A text in lines that fit the width.
  const wrapped = (text, width) => {
    const lines = [""];
    for (const word of text.trim().split(/\s+/)) {
      const longer = `${lines.at(-1)} ${word}`.trim();
      if (longer.length * LETTER > width && lines.at(-1)) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines;
  };

  // A copy that needs no style sheet, with its heading, range and legend, on the page's background.
  const standalone = (place) => {
    const source = place.querySelector(".drawing");
    const { width, height } = source.getBoundingClientRect();
    const legend = place.closest(".results")?.querySelector(".legend")?.textContent ?? "";
    const lines = wrapped(legend, width + MARGIN.left + MARGIN.right - 32);
    const top = MARGIN.top + lines.length * LINE;
    const full = [width + MARGIN.left + MARGIN.right, height + top + MARGIN.bottom];
    const copy = source.cloneNode(true);
    const originals = source.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((element, index) => {
      const computed = getComputedStyle(originals[index]);
      if (computed.display === "none") element.setAttribute("display", "none");
      else for (const name of PAINT) element.setAttribute(name, computed.getPropertyValue(name));
    });
    for (const [name, value] of Object.entries({ x: MARGIN.left, y: top, width, height, overflow: "visible" })) {
      copy.setAttribute(name, value);
    }
    const outer = make("svg", { xmlns: SVG, width: full[0], height: full[1], viewBox: `0 0 ${full[0]} ${full[1]}` });
    const page = getComputedStyle(document.body);
    outer.append(make("rect", { width: "100%", height: "100%", fill: page.backgroundColor }));
    const card = place.closest(".metric");
    const heading = make("text", { x: 16, y: 28, fill: page.color, "font-family": "system-ui, sans-serif", "font-size": 16, "font-weight": 600 });
    heading.textContent = `${card.querySelector(".head > :first-child").textContent}: ${card.querySelector(".total strong").textContent}`;
    const written = lines.map((line, index) => {
      const y = 28 + LINE * (index + 1);
      const text = make("text", { x: 16, y, fill: page.color, "font-family": "system-ui, sans-serif", "font-size": 12 });
      text.textContent = line;
      return text;
    });
    outer.append(heading, ...written, copy);
    return { text: new XMLSerializer().serializeToString(outer), width: full[0], height: full[1] };
  };

  const keepPicture = async (name) => {
    const place = document.querySelector(`[data-chart="${name}"]`);
    const { text, width, height } = standalone(place);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const link = document.createElement("a");
    const title = place.closest(".metric").querySelector(".head > :first-child").textContent;
    const { ofWhat } = place.closest("[data-of-what]").dataset;
    Object.assign(link, { href: canvas.toDataURL("image/png"), download: `${title}${ofWhat}.png` }).click();
  };

  let charts = [];
  addEventListener("pointerdown", (event) => {
    for (const chart of charts) if (chart.index >= 0 && !chart.place.contains(event.target)) chart.clear();
  });

  // The legend's entry of the compared range hides its series and shows it again.
  const toggle = (entry, root) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.setAttribute("aria-pressed", "true");
    button.append(...entry.childNodes);
    button.addEventListener("click", () => {
      const isHidden = root.classList.toggle("without-compared");
      button.setAttribute("aria-pressed", String(!isHidden));
    });
    entry.replaceChildren(button);
  };

  window.duographCharts = (root) => {
    charts = [...root.querySelectorAll("[data-chart]")].map((place) => new Chart(place));
    for (const entry of root.querySelectorAll("[data-compared]")) toggle(entry, root);
    for (const button of root.querySelectorAll("[data-png]")) {
      button.hidden = false;
      button.addEventListener("click", () => keepPicture(button.dataset.png));
    }
  };
  // The dashboard, which replaces its charts, asks for this itself.
  for (const root of document.querySelectorAll("[data-charts]")) window.duographCharts(root);
}
