-- What a look-up says of an app as it was built: the languages it names, and its size. Both are the same in all storefronts,
-- and stand with the look-up that said them, so that each has its time and source.

alter table app_storefront add languages text[], add size_bytes bigint;
