import { describe, expect, test } from "bun:test"
import { type GroupableAlert, type Grouping, groupAlerts } from "../../src/lib/alert-groups.ts"

const row = (rest: Partial<GroupableAlert>): GroupableAlert => {
  return {
    type: "rank_drop",
    appId: "app_tea",
    appName: "Tea Timer",
    platform: "ios",
    country: "us",
    day: "2026-11-26",
    read: false,
    sentence: "a sentence",
    term: null,
    rivalId: null,
    rivalName: null,
    change: null,
    before: null,
    after: null,
    source: "apple-web-search",
    ...rest,
  }
}
const SENTENCE = '"moon phase" fell from 8 to 17 in the US App Store'
const moon = { term: "moon phase", before: 8, after: 17, sentence: SENTENCE }
const rival = (n: number, rest: Partial<GroupableAlert> = {}) =>
  row({ type: "rival_passed", ...moon, rivalId: `${n}`, rivalName: `Rival ${n}`, sentence: `Rival ${n} …`, ...rest })
const rivals = (count: number, rest: Partial<GroupableAlert> = {}) =>
  Array.from({ length: count }, (_, n) => rival(n, rest))
const changeRow = (rest: Partial<GroupableAlert>) =>
  row({ type: "rival_event", rivalId: "7", rivalName: "Moodleaf", change: "icon", before: "a", after: "b", ...rest })

const version = { change: "version", before: "4.0", after: "4.1" }
const beaten = { type: "rival_beaten" }

type Line = [direction: "up" | "down" | null, line: string, alerts: number]

describe("one line per event", () => {
  test.each<[string, GroupableAlert[], Line]>([
    ["a fall alone keeps its sentence", [row(moon)], ["down", SENTENCE, 1]],
    [
      "a fall lists the rival that passed the app",
      [rival(0), row(moon)],
      ["down", `${SENTENCE}; Rival 0 passed you`, 2],
    ],
    [
      "a fall lists the three rivals that passed the app",
      [...rivals(3), row(moon)],
      ["down", `${SENTENCE}; Rival 0, Rival 1 and Rival 2 passed you`, 4],
    ],
    [
      "a fall names three of the eight rivals that passed the app",
      [...rivals(8), row(moon)],
      ["down", `${SENTENCE}; 8 apps passed you: Rival 0, Rival 1, Rival 2 and 5 more`, 9],
    ],
    [
      "passings without a rank alert are described as a fall",
      rivals(2),
      ["down", `${SENTENCE}; Rival 0 and Rival 1 passed you`, 2],
    ],
    [
      "passings with an unchanged rank show the rank as before",
      rivals(2, { before: 8, after: 8 }),
      [null, '"moon phase" is at 8 in the US App Store, as before; Rival 0 and Rival 1 passed you', 2],
    ],
    ["a single passing keeps its sentence", [rival(1)], ["down", "Rival 1 …", 1]],
    [
      "an entry lists the rival that the app passed",
      [row({ type: "entered", term: "tide", after: 4, sentence: "Entered" }), rival(1, { ...beaten, term: "tide" })],
      ["up", "Entered; you passed Rival 1", 2],
    ],
    [
      "passings without an entry alert are described as an entry",
      rivals(4, { ...beaten, before: null, after: 4 }),
      [
        "up",
        '"moon phase" entered at 4 in the US App Store; you passed 4 apps: Rival 0, Rival 1, Rival 2 and 1 more',
        4,
      ],
    ],
    [
      "a rival that passed the app and a rival that the app passed are both listed",
      [rival(0), rival(1, beaten)],
      ["down", `${SENTENCE}; Rival 0 passed you; you passed Rival 1`, 2],
    ],
    [
      "passings by rivals of an app that dropped out are described as a drop-out",
      rivals(2, { after: null, platform: "android" }),
      ["down", '"moon phase" dropped out on Google Play in the US (before: 8); Rival 0 and Rival 1 passed you', 2],
    ],
    [
      "a rival without a name is shown by its store id",
      [row(moon), rival(0, { rivalName: null, rivalId: "9990000104" })],
      ["down", `${SENTENCE}; 9990000104 passed you`, 2],
    ],
    [
      "a rival's changes in one storefront form one line",
      [changeRow(version), changeRow({}), changeRow({ ...version, appId: "app_mate" })],
      [null, "Moodleaf changed version 4.0→4.1, icon in the US App Store", 3],
    ],
    [
      "a rival's change in two storefronts shows the number of storefronts",
      [changeRow(version), changeRow({ ...version, country: "de" })],
      [null, "Moodleaf changed version 4.0→4.1 in 2 storefronts", 2],
    ],
    ["any other alert keeps its sentence", [row({ type: "chart_drop", before: 4 })], [null, "a sentence", 1]],
  ])("%s", (_, rows, line) => {
    expect(linesOf(rows)).toEqual([line])
  })
})

describe("one line per event of several days", () => {
  const alertOn = (day: number, rest: Partial<GroupableAlert>) => row({ ...moon, ...rest, day: `2026-11-${day}` })
  test.each<[string, GroupableAlert[], Line]>([
    [
      "two falls of a keyword are shown as one fall",
      [alertOn(26, { before: 12, after: 17 }), alertOn(24, { before: 8, after: 12 })],
      ["down", `${SENTENCE} from 2026-11-24 to 2026-11-26`, 2],
    ],
    [
      "a fall that a later rise undoes shows the rank as before",
      [alertOn(26, { type: "rank_rise", before: 17, after: 8 }), alertOn(24, {})],
      [null, '"moon phase" is at 8 in the US App Store from 2026-11-24 to 2026-11-26, as before', 2],
    ],
    [
      "only the newest passing of a rival is shown",
      [rival(0, { ...beaten, day: "2026-11-26", before: 17, after: 8 }), rival(0, { day: "2026-11-24" })],
      [
        null,
        '"moon phase" is at 8 in the US App Store from 2026-11-24 to 2026-11-26, as before; you passed Rival 0',
        2,
      ],
    ],
    [
      "a rival's versions are listed oldest first",
      [changeRow({ ...version, before: "4.1", after: "4.2" }), changeRow({ ...version, day: "2026-11-24" })],
      [null, "Moodleaf changed version 4.0→4.1, version 4.1→4.2 in the US App Store from 2026-11-24 to 2026-11-26", 2],
    ],
    ["an event of one day names no days", [rival(0), row(moon)], ["down", `${SENTENCE}; Rival 0 passed you`, 2]],
  ])("%s", (_, rows, line) => {
    expect(linesOf(rows, { acrossDays: true })).toEqual([line])
  })
})

test("events of other apps, keywords, storefronts, stores, sources and days stay separate", () => {
  const otherEvents = [
    { appId: "app_mate" },
    { term: "tide" },
    { country: "gb" },
    { platform: "android" as const },
    { source: "foreign" },
    { day: "2026-11-25" },
  ]
  const rows = [rival(0), rival(1), ...otherEvents.map((rest) => rival(0, rest))]
  expect(groupAlerts(rows).map(({ rows: group }) => group.length)).toEqual([2, 1, 1, 1, 1, 1, 1])
  expect(groupAlerts(rows, { acrossDays: true }).map(({ rows: group }) => group.length)).toEqual([3, 1, 1, 1, 1, 1])
  expect(groupAlerts([changeRow({}), changeRow({ rivalId: "8" })])).toHaveLength(2)
})

test("an event lists each app once and leads with the alert about the app's rank", () => {
  const fall = row(moon)
  expect(groupAlerts([rival(0), fall])[0]).toMatchObject({ lead: fall, apps: ["Tea Timer"] })
  const mate = { appId: "app_mate", appName: "Mate" }
  expect(groupAlerts([changeRow({}), changeRow(mate)])[0]?.apps).toEqual(["Tea Timer", "Mate"])
  expect(groupAlerts([row({ type: "weekly", appId: null, appName: null })])[0]?.apps).toEqual([])
})

test("events are ordered by their newest day, whatever the order of their alerts in the feed", () => {
  const alertOn = (day: string, term: string) => row({ ...moon, term, day })
  const feed = [
    alertOn("2026-11-12", "tide"),
    alertOn("2026-11-26", "moon"),
    alertOn("2026-11-20", "sun"),
    alertOn("2026-11-27", "tide"),
  ]
  const days = (grouping: Grouping) => groupAlerts(feed, grouping).map(({ lead, day }) => [lead.term, day])
  expect(days({ acrossDays: true })).toEqual([
    ["tide", "2026-11-27"],
    ["moon", "2026-11-26"],
    ["sun", "2026-11-20"],
  ])
  expect(days({}).map(([, day]) => day)).toEqual(["2026-11-27", "2026-11-26", "2026-11-20", "2026-11-12"])
})

test("an event counts as read once all of its alerts are read", () => {
  const isGroupRead = (...all: boolean[]) => groupAlerts(all.map((isRead, n) => rival(n, { read: isRead })))[0]!.isRead
  expect([isGroupRead(true, true), isGroupRead(true, false)]).toEqual([true, false])
})

function linesOf(rows: GroupableAlert[], grouping?: Grouping): Line[] {
  return groupAlerts(rows, grouping).map(({ direction, line, rows: group }) => [direction, line, group.length])
}
