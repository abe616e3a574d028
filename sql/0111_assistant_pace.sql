-- The pace of assistants is a row of pace like that of every other upstream: without an egress, for all processes together.
drop table assistant_pace;
