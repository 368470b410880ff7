// Ten calls with the client of swagger-typescript-api.
import { Api, type SchedulingShiftTemplate } from "./generated/api.js";
import { authorization, base, pass } from "./pass.js";

const client = new Api({ baseUrl: base, baseApiParams: { headers: { authorization } } });
const template: SchedulingShiftTemplate = {
  name: "Early, of swagger-typescript-api", startDateTime: "1900-01-01T06:00:00", endDateTime: "1900-01-01T14:00:00",
};

const limits = await client.v1.getLimits();
pass("limits", limits.status, 200, limits.data !== undefined);
const zones = await client.v1.listTimeZones();
pass("time zones", zones.status, 200, zones.data !== undefined);
const user = await client.v1.getCurrentUserInfo();
pass("user", user.status, 200, user.data !== undefined);
const codes = await client.v1.listPayCodes();
pass("pay codes", codes.status, 200, codes.data !== undefined);
const created = await client.v1.createShiftTemplate(template);
pass("create", created.status, 200, created.data.id !== undefined);
const id = created.data.id!;
const read = await client.v1.getShiftTemplate(id);
pass("read", read.status, 200, read.data.name === template.name);
const list = await client.v1.listShiftTemplates();
pass("list", list.status, 200, list.data.length > 0);
const changed = await client.v1.updateShiftTemplate(id, { ...template, label: "E" });
pass("change", changed.status, 200, changed.data.label === "E");
const deleted = await client.v1.deleteShiftTemplate(id);
pass("delete", deleted.status, 204, true);
const gone = await client.v1.getShiftTemplate(id).catch((response) => response);
pass("read the deleted one", gone.status, 404, "errorCode" in gone.error);
