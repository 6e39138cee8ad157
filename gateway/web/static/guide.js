// Search as you type, over the index that the server searches too (gateway/web/guide/search.py).
"use strict";

const WEIGHTS = { title: 8, heading: 4, text: 1 };
const MOST_TERMS = 8;
const MOST_SHOWN = 8;
const LOST = "The search cannot be reached. Try again.";

const form = document.querySelector(".guide-search");
const field = form.querySelector("input");
const list = form.querySelector(".results");
const status = form.querySelector("[role=status]");
let index = null;

function weight(section, terms) {
  let total = 0;
  for (const term of terms) {
    const names = Object.keys(WEIGHTS).filter((name) => section[name].toLowerCase().includes(term));
    if (names.length === 0) return 0;
    total += names.reduce((sum, name) => sum + WEIGHTS[name], 0);
  }
  return total;
}

function entry(section) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = section.address;
  link.textContent = section.heading || section.title;
  if (section.heading) {
    const page = document.createElement("span");
    page.textContent = section.title;
    link.append(" ", page);
  }
  item.append(link);
  return item;
}

function close() {
  list.hidden = true;
  list.replaceChildren();
  status.textContent = "";
}

async function show() {
  const terms = field.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_TERMS);
  if (terms.length === 0) {
    close();
    return;
  }
  index ??= fetch(form.dataset.index).then((answer) => (answer.ok ? answer.json() : Promise.reject(answer)));
  const sections = await index.catch(() => null);
  if (!sections) {
    // The next letter asks again.
    index = null;
    list.replaceChildren(Object.assign(document.createElement("li"), { textContent: LOST }));
    list.hidden = false;
    status.textContent = LOST;
    return;
  }
  const best = sections
    .map((section) => [weight(section, terms), section])
    .filter(([found]) => found > 0)
    .sort(([one], [other]) => other - one)
    .slice(0, MOST_SHOWN);
  list.replaceChildren(...best.map(([, section]) => entry(section)));
  list.hidden = best.length === 0;
  status.textContent = best.length === 1 ? "1 result" : `${best.length} results`;
}

field.addEventListener("input", show);
form.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    close();
    field.focus();
  }
});
form.addEventListener("focusout", (event) => {
  if (!form.contains(event.relatedTarget)) close();
});
