-- The seals of one chain with upto in (p_from, p_upto] whose rows have changed, with the present number of rows.
create or replace function faulty_seals(p_chain text, p_from bigint, p_upto bigint)
returns table (seal bigint, after bigint, upto bigint, sealed_rows bigint, rows_there bigint)
-- The plan must not depend on statistics of a table that is analyzed rarely.
language sql stable set enable_nestloop = off set search_path from current as $$
  with sealed as materialized (
    select s.number, lag(s.upto, 1, (select coalesce(max(b.upto), 0) from seal b where b.chain = p_chain and b.upto <= p_from))
      over (order by s.number) as after, s.upto, s.rows, s.columns, s.digest, s.marks
    from seal s where s.chain = p_chain and s.upto > p_from and s.upto <= p_upto
  ), run as materialized (
    select columns, min(after) as after, max(upto) as upto, array_agg(number order by number) as numbers,
      array_agg(upto order by number) as ends
    from sealed group by columns
  ), there as materialized (
    -- width_bucket finds the seal that covers a row.
    select run.numbers[width_bucket(r.number - 1, run.ends) + 1] as seal, r.number, r.digest
    from run join seal_chain c on c.name = p_chain
      cross join lateral row_digests(p_chain, c.number, run.columns, run.after, run.upto) r
  ), found as (
    select sealed.number, count(there.number) as rows,
      sha256(coalesce(string_agg(there.digest, ''::bytea order by there.number), ''::bytea)) as digest,
      coalesce(string_agg(int4send((there.number - sealed.after)::integer) || substring(there.digest from 1 for 4), ''::bytea
        order by there.number), ''::bytea) as marks
    from sealed left join there on there.seal = sealed.number group by sealed.number, sealed.after
  )
  select s.number, s.after, s.upto, s.rows, f.rows from sealed s join found f using (number)
  where (s.rows, s.digest, s.marks) is distinct from (f.rows, f.digest, f.marks) order by s.number
$$;
