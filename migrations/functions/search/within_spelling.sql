-- A LIKE pattern for the letters and digits of a text anywhere in a spelling. Null for fewer than three, which no index could find.
create or replace function within_spelling(p_text text) returns text language sql immutable parallel safe
  return case when length(replace(words(p_text), ' ', '')) >= 3 then '%' || replace(words(p_text), ' ', '') || '%' end;
