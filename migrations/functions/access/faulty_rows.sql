-- The rows of a seal that were changed, added or removed, found by its marks. None if the seal itself was changed.
create or replace function faulty_rows(p_chain text, p_seal bigint)
returns table (number bigint, fault text)
language sql stable set enable_nestloop = off set search_path from current as $$
  with s as (
    select seal.*, c.number as numbering, (select coalesce(max(b.upto), 0) from seal b where b.chain = p_chain
      and b.number < p_seal) as after
    from seal join seal_chain c on c.name = chain where chain = p_chain and seal.number = p_seal
  ), there as (
    select r.number, substring(r.digest from 1 for 4) as mark
    from s cross join lateral row_digests(p_chain, s.numbering, s.columns, s.after, s.upto) r
  ), marked as (
    select s.after + ('x' || encode(substring(s.marks from n * 8 + 1 for 4), 'hex'))::bit(32)::integer as number,
      substring(s.marks from n * 8 + 5 for 4) as mark
    from s cross join generate_series(0, length(s.marks) / 8 - 1) n
  )
  select number, case when marked.mark is null then 'added' when there.mark is null then 'missing' else 'changed' end
  from there full join marked using (number)
  where there.mark is distinct from marked.mark order by number
$$;
