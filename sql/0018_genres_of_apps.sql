-- Apps have more than one category, and two that share one need not have it as their main one.

-- all genres that the store names of it, the main one first; null = no source said more than that one
alter table store_app add genres text[] check (cardinality(genres) between 1 and 20);
