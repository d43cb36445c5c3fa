-- Search finds parts of words in every spelling, and invoices and their payers by plain spelling. `within_spelling()` remains for instances
-- of the previous version.

-- A regular expression for a word of a query in all its spellings, to be compared with `words()` or `spelling()` of a text. The pages have the
-- same in src/platform/spelling.ts.
create function word_pattern(p_word text) returns text language sql immutable parallel safe
  return (select string_agg(case part
      when 'ss' then '(ss|ß)' when 'th' then '(th|þ)' when 'ae' then '(ae|æ|a)' when 'oe' then '(oe|œ|ø|o)'
      when 'ue' then '(ue|u)' when 'aa' then '(aa|a)' when 'l' then '[lł]' when 'o' then '[oø]' when 'd' then '[dđ]'
      when 'i' then '[iı]' when 'ł' then '[łl]' when 'ø' then '(ø|oe?)' when 'đ' then '[đd]' when 'ð' then '[ðd]'
      when 'ı' then '[ıi]' when 'ß' then '(ß|ss)' when 'þ' then '(þ|th)' when 'æ' then '(æ|ae)' when 'œ' then '(œ|oe)'
      else part end, '' order by place)
    from regexp_matches(p_word, 'ss|th|ae|oe|ue|aa|.', 'g') with ordinality as each (parts, place)
      cross join lateral unnest(parts) part);

-- Whether a word is long enough that an index finds parts of words by it: three letters in its shortest spelling.
create function is_long(p_word text) returns boolean language sql immutable parallel safe
  return regexp_count(p_word, 'ss|th|ae|oe|ue|aa|.') >= 3;

-- The patterns of the words of a query: a long word anywhere, a short one at the beginning of a word. Null without words.
create function part_patterns(p_text text) returns text[] language sql immutable parallel safe
  return (select array_agg(case when is_long(word) then '' else '(^| )' end || word_pattern(word) order by place)
    from string_to_table(words(without_umlauts(p_text)), ' ') with ordinality as each (word, place) where word <> '');

-- A query, or null if all its words are short: what these find, `beginnings()` finds too.
create function with_long_word(p_text text) returns text language sql immutable parallel safe
  return (select case when bool_or(is_long(word)) then p_text end from string_to_table(words(without_umlauts(p_text)), ' ') word);

-- The pattern of one of its words, or of the last if it has fewer: an index takes each pattern by itself.
create function part_pattern(p_text text, p_word integer) returns text language sql immutable parallel safe
  return (select patterns[least(p_word, cardinality(patterns))] from part_patterns(p_text) patterns);

-- The patterns after the first three.
create function further_patterns(p_text text) returns text[] language sql immutable parallel safe
  return coalesce((part_patterns(p_text))[4:], '{}');

-- The pattern of several words without the spaces between them. Null for one word, which `part_patterns` has.
create function joined_pattern(p_text text) returns text language sql immutable parallel safe
  return (select case when sought ~ ' ' and is_long(replace(sought, ' ', '')) then word_pattern(replace(sought, ' ', '')) end
    from words(without_umlauts(p_text)) sought);

-- As `beginnings()`, for whole words.
create function whole_words(p_text text) returns tsquery language sql immutable parallel safe
  return replace(beginnings(p_text)::text, ':*', '')::tsquery;

-- Invoices are found by parts of their number and of the payer's name, and exactly by their number.
create index invoice_spelling on invoice
  using gin ((spelling(coalesce(number, '') || ' ' || coalesce(buyer_name, ''))) gin_trgm_ops);
create index invoice_lower_number on invoice (lower(number));
drop index invoice_number_part, invoice_buyer_part;
