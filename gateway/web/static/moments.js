// Times of the account's and the portal's pages in the reader's own zone, which is named; without JavaScript
// they are in UTC.
"use strict";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

function written(at, month) {
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month, year: "numeric" });
  return `${day.format(at)}, ${clock.format(at)}`;
}

function localize(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    time.title = `${time.textContent.trim()} (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;
    time.textContent = written(new Date(time.dateTime), time.dataset.local || "short");
  }
}

localize(document);

// The founder's zone, or the one that a workspace without a zone may want.
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("[data-own-zone]")) field.value ||= ownZone;
