-- A LIKE pattern for the beginning of a text with a word in any spelling: letters with spellings of other lengths stand for any text.
create or replace function rough_pattern(p_word text) returns text language sql immutable parallel safe
  return translate(regexp_replace(p_word, 's{2,}|th|[aeou]{2,}|[ßþæœø]', '%', 'g'), 'lodiłđðı', '________') || '%';
