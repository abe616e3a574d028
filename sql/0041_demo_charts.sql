-- Charts of which readings of the demo are held, so that they are found without looking through all readings: they go with
-- the first reading that anybody else has of the chart.
alter table chart add demo boolean not null default false;
create index chart_demo on chart (id) where demo;
