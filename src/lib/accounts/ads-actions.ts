/** Write actions on Apple Ads. */
export const ADS_ACTIONS = [
  "pause_campaign",
  "resume_campaign",
  "set_daily_budget",
  "set_keyword_bid",
  "pause_keyword",
  "resume_keyword",
  "add_negative_keyword",
  "add_exact_keyword",
] as const
