// What models, tools and users wrote, shown as it is: what a browser would obey or leave out is named instead.

// Controls, directional marks, and all that is drawn as nothing; but a variation selector that an emoji ends with is no secret.
const UNSEEN = /(?![\n\t\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

function escaped(character) {
  return Array.from({ length: character.length }, (_, place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, "0")}`).join("");
}

/** Return a text with what can't be seen in it as JSON's escapes: JSON stays the same JSON. */
export function plain(text) {
  return String(text).replaceAll("\r\n", "\n").replace(UNSEEN, escaped);
}

/** Return JSON of a value, laid out for editing, which parses back to the value. */
export function json(value) {
  return plain(JSON.stringify(value, null, 2));
}

/** Return the nodes that show a text: what can't be seen in it stands in marks of its own. */
export function nodes(text) {
  const made = [];
  let begin = 0;
  const whole = String(text).replaceAll("\r\n", "\n");
  for (const found of whole.matchAll(UNSEEN)) {
    const mark = document.createElement("span");
    mark.className = "unseen";
    mark.title = "a character that can't be seen";
    mark.textContent = escaped(found[0]);
    made.push(whole.slice(begin, found.index), mark);
    begin = found.index + found[0].length;
  }
  return [...made, whole.slice(begin)].filter((node) => node !== "");
}
