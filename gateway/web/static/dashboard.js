// A change of the question reloads only the dashboard; slow lists come after the page, tables over it.
"use strict";

{
  let running = null;
  // The address of the question that is shown; that of the page may be of one that could not be loaded.
  let shownAt = location.href;
  const dashboard = () => document.getElementById("dashboard");

  const pageAt = async (address, signal) => {
    const response = await fetch(address, { signal, headers: { Accept: "text/html" } });
    // A page that is refused is a page too; without a session it is the sign-in.
    if (response.redirected && !response.url.includes("/dashboard")) location.assign(address);
    return new DOMParser().parseFromString(await response.text(), "text/html");
  };

  const addressOf = (form, submitter) => {
    const sent = [...new FormData(form, submitter)].filter(([name, value]) => value && (name.endsWith("_date") ? isCustom(form, submitter) : true));
    return `${form.getAttribute("action")}?${new URLSearchParams(sent)}`;
  };

  const isCustom = (form, submitter) =>
    submitter ? submitter.value === "custom" : form.querySelector("button[name=range]").value === "custom";

  const show = async (address, { push = true } = {}) => {
    running?.abort();
    running = new AbortController();
    const focused = document.activeElement?.id || document.activeElement?.value;
    const isFiltering = dashboard().querySelector(".filters").open;
    dashboard().classList.add("loading");
    const progress = document.getElementById("progress");
    progress.textContent = "Loading…";
    progress.hidden = false;
    try {
      const page = await pageAt(address, running.signal);
      const fresh = page.getElementById("dashboard");
      if (!fresh) throw new Error("no dashboard");
      // A question that is refused leaves what was answered last.
      const isRefused = fresh.querySelector(".question .errors") !== null;
      if (isRefused) fresh.querySelector(".results").replaceWith(dashboard().querySelector(".results"));
      dashboard().replaceWith(document.adoptNode(fresh));
      // Several filters may be chosen in a row.
      if (isFiltering) dashboard().querySelector(".filters").open = true;
      if (push) history.pushState(null, "", address);
      begin({ isRefused });
      restoreFocus(focused);
    } catch (reason) {
      if (reason.name !== "AbortError") fail(address);
    }
  };

  const restoreFocus = (focused) => {
    const errors = dashboard().querySelector(".errors");
    const buttons = [...dashboard().querySelectorAll(".ranges > button")];
    const same = focused && (document.getElementById(focused) ?? buttons.find(({ value }) => value === focused));
    (errors ?? same ?? null)?.focus();
  };

  // On a phone the ranges are one line that scrolls sideways.
  document.querySelector(".ranges > [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

  const fail = (address) => {
    dashboard().classList.remove("loading");
    const progress = document.getElementById("progress");
    progress.replaceChildren("This could not be loaded. ", Object.assign(document.createElement("a"), { href: address, textContent: "Try again" }));
    progress.hidden = false;
  };

  const loadPanel = async (panel) => {
    panel.classList.add("waiting");
    panel.setAttribute("aria-busy", "true");
    try {
      const page = await pageAt(panel.dataset.load, running?.signal);
      const fresh = page.getElementById(panel.id);
      if (!fresh) throw new Error("no list");
      panel.replaceChildren(...document.adoptNode(fresh).childNodes);
    } catch (reason) {
      if (reason.name === "AbortError") return;
      const text = Object.assign(document.createElement("p"), { className: "refusal", textContent: "This could not be loaded." });
      panel.append(text);
    }
    panel.classList.remove("waiting");
    panel.removeAttribute("aria-busy");
  };

  const SOON = 1000;
  const BETWEEN_LOOKS = 5000;
  const MINUTE = 60_000;
  let isDue = false;
  let isStale = false;
  let renewedAt = -BETWEEN_LOOKS;
  let touchedAt = 0;
  for (const type of ["pointermove", "pointerdown", "keydown", "wheel"]) {
    addEventListener(type, () => (touchedAt = performance.now()), { passive: true });
  }

  // What somebody looks into stays as it is: a reading of a chart, an open table, a text that is selected. Of a page that
  // nobody has touched for minutes, nothing is looked into.
  const isRead = (results) =>
    performance.now() - touchedAt < 5 * MINUTE &&
    (document.querySelector("dialog[open]") || results.contains(document.activeElement) || results.matches(":has(:hover [data-chart], [data-chart]:hover, details[open])") || !getSelection().isCollapsed);

  const isAccepted = () => dashboard().dataset.until !== undefined;
  const mayRenew = () => !document.hidden && !dashboard().classList.contains("loading") && !isRead(dashboard().querySelector(".results"));

  // Charts move and lists renew themselves in place; the question, which may be half changed, is left alone.
  const renew = async () => {
    const address = shownAt;
    const page = await pageAt(address, AbortSignal.timeout(MINUTE));
    const fresh = page.querySelector("#dashboard .results");
    if (!fresh || shownAt !== address || !mayRenew()) return false;
    // What it asks for may have been deleted; somebody may be typing in the question.
    if (page.querySelector("#dashboard .question .errors")) return fail(address);
    document.getElementById("progress").hidden = true;
    const results = dashboard().querySelector(".results");
    for (const panel of results.querySelectorAll("[data-load]")) {
      fresh.querySelector(`#${panel.id}`)?.replaceChildren(...panel.childNodes);
    }
    const focused = document.activeElement.id;
    results.replaceWith(document.adoptNode(fresh));
    enhance(fresh);
    if (document.activeElement.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
    return true;
  };

  const look = async () => {
    isStale = false;
    const isDone = !isAccepted() || (mayRenew() && (await renew().catch(() => false)) !== false);
    if (!isDone) return setTimeout(look, BETWEEN_LOOKS);
    isDue = false;
    renewedAt = performance.now();
    if (isStale) renewSoon();
  };

  // What happens while the page is being asked for may not be in the answer.
  const renewSoon = () => {
    isStale = true;
    if (isDue) return;
    isDue = true;
    setTimeout(look, Math.max(SOON, renewedAt + BETWEEN_LOOKS - performance.now()));
  };

  // The days of a button move on at midnight, even if nothing happens; charts that could not be read are tried again.
  let later = null;
  const renewLater = ({ periods, secondsLeft }) => {
    clearTimeout(later);
    const seconds = periods ? secondsLeft : 60;
    // The pages of many people do not ask in the same second.
    if (seconds) later = setTimeout(renewSoon, (Number(seconds) + 5 * Math.random()) * 1000);
  };

  const follow = () => {
    const words = document.getElementById("connection");
    let isFirst = true;
    const happened = (event) => {
      const changed = event && JSON.parse(event.data).data?.metricsChanged?.firstDay;
      const { until } = dashboard().dataset;
      // The page has just been made; after a later connection it may have missed something.
      const isNews = event ? changed && (!until || changed <= until) : !isFirst;
      isFirst = false;
      if (isNews) renewSoon();
    };
    const stands = (isConnected) => {
      const text = isConnected ? "" : "No connection: these numbers may be out of date. Trying again.";
      if (words.textContent !== text) words.textContent = text;
      words.hidden = isConnected;
    };
    window.duographFollow(dashboard().dataset.live, ["next"], { happened, stands });
  };

  const enhance = (part) => {
    window.duographCopies(part);
    for (const link of part.querySelectorAll("[data-dialog]")) {
      link.addEventListener("click", (event) => {
        if (!isPlain(event)) return;
        event.preventDefault();
        showPart(link);
      });
    }
    for (const link of part.querySelectorAll(".tabs a")) {
      link.addEventListener("click", (event) => {
        if (!isPlain(event)) return;
        event.preventDefault();
        show(link.href);
      });
    }
    window.duographCharts(part);
    renewLater(dashboard().querySelector(".results").dataset);
    for (const panel of part.querySelectorAll("[data-load]")) loadPanel(panel);
  };

  // Some 400 options, for the few who look for one.
  const offerZones = () => {
    const zones = document.getElementById("zones");
    const known = new Set([...zones.options].map(({ value }) => value));
    for (const zone of Intl.supportedValuesOf?.("timeZone") ?? []) if (!known.has(zone)) zones.append(new Option(zone, zone));
  };

  // A part of the metric's own page, over this one.
  const showPart = async (link) => {
    const dialog = dashboard().querySelector("dialog.over");
    try {
      const page = await pageAt(link.href);
      const part = page.getElementById(link.dataset.dialog);
      if (!part) throw new Error("no part");
      part.querySelector("h2").id = "over-heading";
      const end = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "Close" });
      end.addEventListener("click", () => dialog.close());
      dialog.replaceChildren(...document.adoptNode(part).childNodes, end);
      window.duographCopies(dialog);
      const menu = link.closest("details");
      // The focus returns to where it is now, at once; the close event would come a frame later.
      menu.querySelector("summary").focus();
      menu.open = false;
      dialog.showModal();
    } catch {
      location.assign(link.href);
    }
  };

  const isPlain = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

  const begin = ({ isRefused = false } = {}) => {
    const root = dashboard();
    shownAt = location.href;
    root.classList.add("enhanced");
    const form = root.querySelector("form.question");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      show(addressOf(form, event.submitter));
    });
    for (const field of form.querySelectorAll(":is(.controls :is(select, input), .switch input)")) {
      field.addEventListener("change", () => show(addressOf(form, form.querySelector("button[name=range]"))));
    }
    form.querySelector("[name=timezone]").addEventListener("focus", offerZones, { once: true });
    window.duographSuggest?.(root);
    if (!isRefused) enhance(root);
  };

  addEventListener("popstate", () => show(location.href, { push: false }));
  begin();
  follow();
}
