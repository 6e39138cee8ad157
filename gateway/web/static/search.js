// The search of a workspace over any of its pages, and the keys that lead to them. Without JavaScript the
// search is a page, whose results are shown here.
"use strict";

const DELAY = 150;
const OFF = "duograph-keys-off";
const link = document.querySelector("[data-search]");

// On a phone the pages are one line that scrolls sideways.
document.querySelector(".sidebar [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

if (link) {
  const keys = new Map([...document.querySelectorAll("[data-keys]")].map((each) => [each.dataset.keys, each]));
  const dialog = (label) => {
    const made = document.createElement("dialog");
    made.className = "palette";
    made.setAttribute("aria-label", label);
    made.addEventListener("click", (event) => {
      if (event.target === made) made.close();
    });
    document.body.append(made);
    return made;
  };

  const palette = dialog("Search");
  const input = document.createElement("input");
  input.type = "search";
  input.maxLength = 100;
  input.placeholder = "Shares, customers, pages and guides";
  input.setAttribute("aria-label", "Search shares, customers, pages and guides");
  const results = document.createElement("div");
  results.className = "results";
  results.setAttribute("aria-live", "polite");
  palette.append(input, results);

  let asked = 0;
  const find = async (delay) => {
    const mine = ++asked;
    await new Promise((later) => setTimeout(later, delay));
    if (mine !== asked) return;
    const address = new URL(link.href);
    address.searchParams.set("q", input.value);
    const answer = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
    if (mine !== asked) return;
    if (!answer?.ok || answer.redirected) {
      const text = "The search cannot be reached. Try again, or reload the page.";
      results.replaceChildren(Object.assign(document.createElement("p"), { className: "nothing", textContent: text }));
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine === asked) results.replaceChildren(...page.getElementById("results").childNodes);
  };
  const open = () => {
    if (document.querySelector("dialog[open]")) return;
    palette.showModal();
    input.select();
    find(0);
  };
  const links = () => [...results.querySelectorAll("a")];

  input.addEventListener("input", () => find(DELAY));
  palette.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      // A field of a search would only be emptied.
      event.preventDefault();
      palette.close();
      return;
    }
    const all = links();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && all.length) {
      event.preventDefault();
      const place = all.indexOf(document.activeElement);
      const next = place + step;
      (place < 0 && step < 0 ? input : (all[next] ?? input)).focus();
    } else if (event.key === "Enter" && event.target === input && all.length) {
      event.preventDefault();
      all[0].click();
    }
  });
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });

  const help = dialog("Keyboard shortcuts");
  const explain = () => {
    if (document.querySelector("dialog[open]")) return;
    const rows = [["Ctrl K", "Search"], ["/", "Filter this list, or search"]];
    for (const [sequence, each] of keys) rows.push([sequence, each.textContent.trim()]);
    rows.push(["?", "These shortcuts"], ["Esc", "Close what is open"]);
    const heading = document.createElement("h2");
    heading.textContent = "Keyboard shortcuts";
    const list = document.createElement("dl");
    for (const [sequence, says] of rows) {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      term.textContent = says;
      const description = document.createElement("dd");
      for (const key of sequence.split(" ")) {
        const drawn = document.createElement("kbd");
        drawn.textContent = key;
        description.append(drawn, " ");
      }
      row.append(term, description);
      list.append(row);
    }
    const choice = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !localStorage.getItem(OFF);
    box.addEventListener("change", () => {
      if (box.checked) localStorage.removeItem(OFF);
      else localStorage.setItem(OFF, "1");
    });
    choice.append(box, " Use keys without Ctrl in this browser");
    help.replaceChildren(heading, list, choice);
    help.showModal();
  };

  // Menus and what else opens over the page: closed by Escape, and by a press elsewhere.
  const MENUS = "details:is(.switcher, .menu, .pop)[open]";
  const close = (menu) => {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  };
  document.addEventListener("click", (event) => {
    for (const each of document.querySelectorAll(MENUS)) if (!each.contains(event.target)) each.open = false;
  });

  let first = "";
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
      return;
    }
    if (event.key === "Escape") {
      for (const each of document.querySelectorAll(MENUS)) close(each);
      return;
    }
    // A field of a dialog that was just closed has the keys until the page is drawn anew.
    const isTyping = event.target.closest(":is(input, select, textarea, [contenteditable]):not(dialog:not([open]) *)");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "?") {
      event.preventDefault();
      explain();
      return;
    }
    if (localStorage.getItem(OFF)) return;
    const place = keys.get(`${first} ${event.key}`);
    first = event.key;
    if (place) place.click();
    else if (event.key === "/") {
      event.preventDefault();
      const filter = document.querySelector(".filters input[name=query], .filters input[name=name]");
      if (filter) filter.focus();
      else open();
    }
  });
}
