-- Keywords of the App Store are ordered on Apple's scale: an estimate counts as the middle of its band.
update list_now n
set popularity = (array[7, 28, 53])[width_bucket(k.estimate::int, array[0, 59, 73])]
from keyword_now k
where k.list_id = n.list_id and n.platform = 'ios' and k.published is null and k.estimate is not null
  and n.popularity is distinct from (array[7, 28, 53])[width_bucket(k.estimate::int, array[0, 59, 73])];
