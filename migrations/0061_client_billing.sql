-- The billing details of a client: what every invoice to it states. A new draft takes a copy, so that no later change reaches it.
alter table client
  add column vat_number       text check (length(vat_number) between 1 and 50),
  add column billing_street   text check (length(billing_street) between 1 and 200),
  add column billing_extra    text check (length(billing_extra) between 1 and 200),
  add column billing_postcode text check (length(billing_postcode) between 1 and 20),
  add column billing_city     text check (length(billing_city) between 1 and 100),
  -- ISO 3166-1.
  add column billing_country  text check (billing_country ~ '^[A-Z]{2}$'),
  add column buyer_reference  text check (length(buyer_reference) between 1 and 100),
  add column order_number     text check (length(order_number) between 1 and 100),
  add column days_to_pay      integer check (days_to_pay between 0 and 365);

alter table invoice
  -- The parts of buyer_address, {street, extra, postcode, city, country}; null if it was written in a draft.
  add column buyer_place     jsonb check (buyer_place is null or (jsonb_typeof(buyer_place) = 'object' and buyer_address is not null)),
  add column buyer_reference text check (length(buyer_reference) between 1 and 100),
  add column order_number    text check (length(order_number) between 1 and 100),
  -- Null in a draft: as the configuration has it when the invoice is issued.
  add column days_to_pay     integer check (days_to_pay between 0 and 365);

do $$
declare
  v_client constant text := 'vat_number, billing_street, billing_extra, billing_postcode, billing_city, billing_country, buyer_reference,
    order_number, days_to_pay';
  v_invoice constant text := 'buyer_place, buyer_reference, order_number, days_to_pay';
begin
  execute format('grant insert (%1$s), update (%1$s) on client to %2$s, %3$s', v_client, portal_role('consultant'), portal_role('partner'));
  execute format('grant insert (%1$s), update (%1$s) on invoice to %2$s', v_invoice, portal_role('partner'));
end $$;
