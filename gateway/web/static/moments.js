// Times in the reader's own zone, which is named; without JavaScript they are in UTC.
"use strict";

const written = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

function localize(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    time.title = `${time.textContent.trim()} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
    time.textContent = written.format(new Date(time.dateTime));
  }
}

localize(document);
