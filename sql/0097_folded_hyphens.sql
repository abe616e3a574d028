-- Hyphens and Arabic vowel signs no longer count in the search of reviews. A review without its folded text is folded
-- when it is searched.
update review_version
set folded = null
where folded ~ '[\u2010\u2011\ufe63\uff0d\u2212\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]';
