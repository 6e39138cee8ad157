// A list that renews itself when something happens that it may show, until it is paused. While somebody reads further
// down, or is in the list, new rows wait behind a button.
"use strict";

{
  // Beside many changes, one look has several of them; a screen reader is told of new rows less often.
  const SECONDS_BETWEEN_LOOKS = 1;
  const SECONDS_BETWEEN_WORDS = 20;
  const list = document.querySelector("[data-live]");

  const begin = () => {
    const make = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });
    const bar = make("p", "live");
    const state = make("span", "state");
    const words = make("span", "visually-hidden");
    words.setAttribute("role", "status");
    const more = Object.assign(make("button", "more"), { type: "button", hidden: true });
    const button = Object.assign(make("button", "quiet", "Pause"), { type: "button" });
    bar.append(state, words, more, button);
    list.before(bar);
    let runs = true;
    let waiting = null;
    let looking = false;
    let lookedAt = 0;
    let saidAt = 0;

    const say = (text, { soon = false } = {}) => {
      if (!soon && performance.now() - saidAt < SECONDS_BETWEEN_WORDS * 1000) return;
      saidAt = performance.now();
      words.textContent = text;
    };

    const show = (text, isConnected = true) => {
      state.textContent = text;
      bar.classList.toggle("runs", runs && isConnected);
    };

    const counted = (number) => `${number} new`;

    const isRead = () => list.contains(document.activeElement) || list.getBoundingClientRect().top < 0 || !getSelection().isCollapsed;

    const insert = ({ fresh, added }) => {
      const page = document.adoptNode(fresh);
      added.forEach((row) => row.classList.add("new"));
      list.replaceChildren(...page.childNodes);
      waiting = null;
      more.hidden = true;
      show(added.length ? `Live: ${counted(added.length)}` : "Live");
    };

    const look = async () => {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected) return show("Signed out: reload the page", false);
      if (!answer.ok) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(list.id);
      const known = new Set([...list.querySelectorAll("tbody th a")].map((link) => link.href));
      const added = [...fresh.querySelectorAll("tbody tr")].filter((row) => !known.has(row.querySelector("th a").href));
      if (added.length) say(counted(added.length));
      if (!isRead()) return insert({ fresh, added });
      waiting = { fresh, added };
      show("Live");
      more.hidden = !added.length;
      more.textContent = `Show ${counted(added.length)}`;
    };

    const happened = () => {
      if (looking || !runs) return;
      looking = true;
      const rest = Math.max(0, lookedAt + SECONDS_BETWEEN_LOOKS * 1000 - performance.now());
      setTimeout(async () => {
        looking = false;
        lookedAt = performance.now();
        try {
          if (runs) await look();
        } catch {
          stands(false);
        }
      }, rest);
    };

    const stands = (isConnected) => {
      if (!runs) return;
      const text = isConnected ? "Live" : "No connection: trying again";
      if (text !== state.textContent && (!isConnected || !state.textContent.startsWith("Live"))) {
        say(isConnected ? "Connected" : text, { soon: true });
        show(text, isConnected);
      }
    };

    const following = window.duographFollow(list.dataset.live, list.dataset.kinds.split(" "), { happened, stands });
    more.addEventListener("click", () => {
      if (!waiting) return;
      insert(waiting);
      scrollTo({ top: 0 });
      button.focus({ preventScroll: true });
    });
    button.addEventListener("click", () => {
      runs = !runs;
      button.textContent = runs ? "Pause" : "Resume";
      show(runs ? "Live" : "Paused");
      if (runs) following.resume();
      else following.pause();
    });
    show("Live");
  };

  if (list) begin();
}
