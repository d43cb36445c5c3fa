-- The patterns after the first three.
create or replace function further_patterns(p_text text) returns text[] language sql immutable parallel safe
  return coalesce((part_patterns(p_text))[4:], '{}');
