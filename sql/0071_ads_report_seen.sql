-- what a later reading of the same day supersedes goes after a while, the oldest first
create index ads_report_seen_idx on ads_report (seen_at);
