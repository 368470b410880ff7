// Sends so many bytes, by the module that is named, and prints the status and the body
// of the answer.
import https from "node:https";

const [url, token, size, by] = process.argv.slice(2);
const body = Buffer.alloc(Number(size), "x");
const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };

if (by === "fetch") {
  const answer = await fetch(url, { method: "POST", body, headers });
  console.log(answer.status, await answer.text());
} else {
  const request = https.request(url, { method: "POST", headers: { ...headers, "Content-Length": body.length } }, (answer) => {
    let text = "";
    answer.on("data", (part) => (text += part));
    answer.on("end", () => console.log(answer.statusCode, text));
  });
  request.end(body);
}
