// Follows what happens in the workspace by Server-Sent Events, for as long as the page is in view, and says whether
// it is connected. `happened` is called after each connection too: what came before is not told.
"use strict";

window.duographFollow = (address, types, { happened, stands }) => {
  const SECONDS_BETWEEN_TRIES = 5;
  let source = null;
  let timer = null;
  let runs = true;

  const close = () => {
    source?.close();
    source = null;
    clearTimeout(timer);
  };

  const open = () => {
    close();
    if (!runs || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("open", () => {
      stands(true);
      happened();
    });
    for (const type of types) source.addEventListener(type, happened);
    const lost = () => {
      stands(false);
      // It connects again by itself, unless it was refused.
      if (source?.readyState !== EventSource.CLOSED) return;
      clearTimeout(timer);
      timer = setTimeout(open, SECONDS_BETWEEN_TRIES * 1000);
    };
    source.addEventListener("error", lost);
    // How a subscription of GraphQL ends.
    source.addEventListener("complete", () => {
      source.close();
      lost();
    });
  };

  document.addEventListener("visibilitychange", open);
  open();
  return {
    pause: () => {
      runs = false;
      close();
    },
    resume: () => {
      runs = true;
      open();
    },
  };
};
