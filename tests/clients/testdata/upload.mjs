// Sends so many bytes, by the module that is named, and prints the status and the body
// of the response.
import https from "node:https";

const [url, token, size, by] = process.argv.slice(2);
const body = Buffer.alloc(Number(size), "x");
const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };

if (by === "fetch") {
  const response = await fetch(url, { method: "POST", body, headers });
  console.log(response.status, await response.text());
} else {
  const request = https.request(url, { method: "POST", headers: { ...headers, "Content-Length": body.length } }, (response) => {
    let text = "";
    response.on("data", (part) => (text += part));
    response.on("end", () => console.log(response.statusCode, text));
  });
  request.end(body);
}
