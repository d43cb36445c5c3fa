-- A tsquery for texts that have words beginning with those of a text, in every spelling.
create or replace function beginnings(p_text text) returns tsquery language sql immutable parallel safe
  return (select coalesce(to_tsquery('simple', string_agg(w.alternatives, ' & ')), '')
    from (select '(' || string_agg(distinct v || ':*', ' | ') || ')' as alternatives
      from unnest(string_to_array(words(p_text), ' '), string_to_array(words(without_umlauts(p_text)), ' '))
          with ordinality as each (plain, long, place)
        cross join lateral unnest(case when plain = long then variants(plain) else variants(plain) || variants(long) end) v
      where plain <> '' group by place) w);
