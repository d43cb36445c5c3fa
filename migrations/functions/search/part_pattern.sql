-- The pattern of one of its words, or of the last if it has fewer: an index takes each pattern by itself.
create or replace function part_pattern(p_text text, p_word integer) returns text language sql immutable parallel safe
  return (select patterns[least(p_word, cardinality(patterns))] from part_patterns(p_text) patterns);
