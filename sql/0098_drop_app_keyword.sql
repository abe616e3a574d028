-- list_keyword_ranks reads list_now and keyword_now. No answer is stored as text any more.
drop table app_keyword;
delete from instance
where key = 'app_keywords';
