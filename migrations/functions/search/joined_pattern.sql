-- The pattern of several words without the spaces between them. Null for one word, which `part_patterns` has.
create or replace function joined_pattern(p_text text) returns text language sql immutable parallel safe
  return (select case when sought ~ ' ' and is_long(replace(sought, ' ', '')) then word_pattern(replace(sought, ' ', '')) end
    from words(without_umlauts(p_text)) sought);
