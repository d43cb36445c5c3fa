-- The documents that changed last among those with all words of a text on one page, and the first such page; of a consultant's clients, or of
-- all. It runs as the partner's role: for the others, row-level security would read and compare each page, because no index may be used before
-- its policies. Callers read what the ids stand for in their own role, so this only chooses among what they see.
create or replace function matching_texts(p_text text, p_consultant uuid, p_most integer) returns table (document_id uuid, page integer)
language plpgsql stable rows 20 set search_path from current set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
declare
  v_query constant tsquery := beginnings(p_text);
  -- A word is common if it is on more pages. Then the documents that changed last are tried one after the other.
  v_common constant integer := 2000;
  v_tried constant integer := 300;
  v_documents uuid[];
  v_pages integer[];
begin
  if (select count(*) > v_common from (select from document_text t where t.search @@ v_query limit v_common + 1) m) then
    select array_agg(m.id), array_agg(m.page) into v_documents, v_pages from (
      select n.id, p.page from (
          select d.id, d.client_id, d.digest, d.updated_at from document d join client c on c.id = d.client_id
          where d.archived_at is null and c.deleted_at is null and (p_consultant is null or c.consultant_id = p_consultant)
          order by d.updated_at desc, d.id desc limit v_tried) n
        cross join lateral (
          select t.page from document_text t where (t.client_id, t.digest) = (n.client_id, n.digest) and t.search @@ v_query
          order by t.page limit 1) p
      order by n.updated_at desc, n.id desc limit p_most) m;
    if cardinality(v_documents) = p_most then
      return query select * from unnest(v_documents, v_pages);
      return;
    end if;
  end if;
  return query
    select d.id, min(t.page) from document_text t
      join document d on (d.client_id, d.digest) = (t.client_id, t.digest) and d.archived_at is null
      join client c on c.id = d.client_id
    where t.search @@ v_query and c.deleted_at is null and (p_consultant is null or c.consultant_id = p_consultant)
    group by d.id order by d.updated_at desc, d.id desc limit p_most;
end $$;
do $$
begin
  execute format('alter function matching_texts(text, uuid, integer) set role = %I', portal_role('partner'));
end $$;
