/**
 * What the reference does where script runs: its forms show the sandbox's answer in the page, and a field narrows the list.
 * It asks nothing but the origin it came from. Every text is set as text, never as markup.
 */
export const REFERENCE_SCRIPT = `
"use strict"

for (const input of document.querySelectorAll("input[readonly]")) input.readOnly = false

document.addEventListener("submit", (event) => {
  event.preventDefault()
  ask(event.target)
})

async function ask(form) {
  const url = addressOf(form)
  const { said, body } = placeOf(form)
  const turn = String(Number(form.dataset.turn ?? 0) + 1)
  form.dataset.turn = turn
  said.textContent = "Asking " + url
  body.hidden = true
  let shown
  try {
    const response = await fetch(url, { credentials: "omit", cache: "no-store" })
    shown = await answerOf(response, url)
  } catch (error) {
    shown = { said: "No answer from " + url + ": " + error.message, body: "" }
  }
  // a later call of the same form has taken the place
  if (form.dataset.turn !== turn) return
  said.textContent = shown.said
  body.textContent = shown.body
  body.hidden = shown.body === ""
}

function addressOf(form) {
  let path = form.dataset.path
  const query = new URLSearchParams()
  for (const field of form.querySelectorAll("input, select")) {
    const value = field.value.trim()
    if (field.dataset.path) path = path.replace("{" + field.dataset.path + "}", () => encodeURIComponent(value))
    else if (value !== "") query.append(field.name || field.dataset.name, value)
  }
  return query.size > 0 ? path + "?" + query : path
}

async function answerOf(response, url) {
  const text = await response.text()
  const headers = [...response.headers].filter(([name]) => SHOWN.test(name)).map(([name, value]) => name + ": " + value)
  const said = response.status + (response.ok ? ", answered " : ", refused ") + url
  return { said, body: headers.join("\\n") + "\\n\\n" + pretty(text) }
}

const SHOWN = /^(x-credits-|x-request-id|content-type|retry-after)/

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function placeOf(form) {
  const place = form.nextElementSibling ?? newPlace(form)
  return { said: place.firstChild, body: place.lastChild }
}

function newPlace(form) {
  const place = document.createElement("div")
  const said = document.createElement("p")
  said.setAttribute("role", "status")
  const body = document.createElement("pre")
  body.tabIndex = 0
  body.className = "answer"
  body.setAttribute("role", "region")
  body.setAttribute("aria-label", "Answer")
  place.append(said, body)
  form.after(place)
  return place
}

const filter = document.getElementById("filter")
const found = document.getElementById("found")
const parts = [...document.querySelectorAll("main section")].map((section) => ({
  section,
  words: section.querySelector("h3").textContent.toLowerCase() + " " + section.id + " " +
    section.querySelector("p").textContent.toLowerCase().split(". ")[0],
  entry: document.querySelector('nav a[href="#' + section.id + '"]').parentNode,
}))
const groups = [...document.querySelectorAll("[data-group]")]

filter.closest("p").hidden = false
filter.addEventListener("input", narrow)
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1))
  if (!target?.closest("[hidden]")) return
  filter.value = ""
  narrow()
  target.scrollIntoView()
})
if (filter.value !== "") narrow()

function narrow() {
  const asked = filter.value.toLowerCase().split(" ").filter((word) => word !== "")
  let count = 0
  for (const { section, words, entry } of parts) {
    const kept = asked.every((word) => words.includes(word))
    section.hidden = entry.hidden = !kept
    if (kept) count++
  }
  for (const group of groups)
    group.hidden = asked.length > 0 && !group.querySelector("section:not([hidden]), nav li:not([hidden])")
  found.textContent = asked.length === 0 ? "" : count + (count === 1 ? " match" : " matches")
}
`
