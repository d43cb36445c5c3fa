-- The patterns of the words of a query: a long word anywhere, a short one at the beginning of a word. Null without words.
create or replace function part_patterns(p_text text) returns text[] language sql immutable parallel safe
  return (select array_agg(case when is_long(word) then '' else '(^| )' end || word_pattern(word) order by place)
    from string_to_table(words(without_umlauts(p_text)), ' ') with ordinality as each (word, place) where word <> '');
