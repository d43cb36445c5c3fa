-- LIKE patterns for the words of a query, as `part_patterns()`, which they are much faster to compare than, but match other texts too. They are
-- compared with `spelling()` of a text and a space before it.
create or replace function rough_patterns(p_text text) returns text[] language sql immutable parallel safe
  return (select array_agg(case when is_long(word) then '%' else '% ' end || rough_pattern(word))
    from string_to_table(words(without_umlauts(p_text)), ' ') word where word <> '');
