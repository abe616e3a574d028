-- What a search of reviews looks through: title and text in the spelling in which texts are compared (foldReview). Null =
-- stored before there was such a column: whoever searches folds it then, and the next reading that shows the review fills it.
-- A later version that folds in another way sets the column to null.
alter table review_version add folded text;
