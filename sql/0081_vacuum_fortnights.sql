-- Each night packs a share of the lists, and the rows of that night leave empty what they stood in before. A server's autovacuum
-- would let a fifth of the table come together first, so that the next nights' rows found no room and took more.
alter table search_fortnight set (
  autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_vacuum_scale_factor = 0.01
);
