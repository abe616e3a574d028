-- Keywords' latest answers are found by the keyword in one step.

-- by one number: by three texts, and then by the list's number, a thousand take twice as long
create index list_now_keyword on list_now (hashtextextended(term, hashtextextended(storefront, 0)));
