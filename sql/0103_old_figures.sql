-- Retention finds old calculated figures by their day. Published ones (formula 0) are observations, and stay.
create index keyword_metric_old on keyword_metric (day) where formula > 0;
