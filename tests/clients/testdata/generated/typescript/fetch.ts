// Ten calls with openapi-fetch and the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";
import { authorization, base, pass } from "./pass.js";

const client = createClient<paths>({ baseUrl: base, headers: { authorization } });
const template: components["schemas"]["scheduling.ShiftTemplate"] = {
  name: "Early, of openapi-fetch", startDateTime: "1900-01-01T06:00:00", endDateTime: "1900-01-01T14:00:00",
};
const templates = "/v1/scheduling/shift_templates";
const one = "/v1/scheduling/shift_templates/{id}";

const limits = await client.GET("/v1/platform/limits");
pass("limits", limits.response.status, 200, limits.data !== undefined);
const zones = await client.GET("/v1/commons/setup/timezones");
pass("time zones", zones.response.status, 200, zones.data !== undefined);
const user = await client.GET("/v1/commons/persons/current_user_info");
pass("user", user.response.status, 200, user.data !== undefined);
const codes = await client.GET("/v1/timekeeping/setup/pay_codes");
pass("pay codes", codes.response.status, 200, codes.data !== undefined);
const created = await client.POST(templates, { body: template });
pass("create", created.response.status, 200, created.data?.id !== undefined);
const path = { id: created.data!.id! };
const read = await client.GET(one, { params: { path } });
pass("read", read.response.status, 200, read.data?.name === template.name);
const list = await client.GET(templates);
pass("list", list.response.status, 200, (list.data?.length ?? 0) > 0);
const changed = await client.PUT(one, { params: { path }, body: { ...template, label: "E" } });
pass("change", changed.response.status, 200, changed.data?.label === "E");
const deleted = await client.DELETE(one, { params: { path } });
pass("delete", deleted.response.status, 204, true);
const gone = await client.GET(one, { params: { path } });
pass("read the deleted one", gone.response.status, 404, gone.error !== undefined && "errorCode" in gone.error);
