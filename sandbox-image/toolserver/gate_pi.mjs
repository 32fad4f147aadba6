// An extension of pi: each of its tool calls is asked about at the session's gate before it runs.
// Without an answer a call is blocked.
import { spawn } from "node:child_process";

const GATE = "/opt/glovebox/toolserver/glovebox-gate";

function ask(event) {
	return new Promise((resolve) => {
		const child = spawn(GATE, ["pi"], { stdio: ["pipe", "pipe", "pipe"] });
		let said = "";
		child.stdout.on("data", (data) => (said += data));
		child.stdin.on("error", () => {});
		child.on("error", () => resolve(null));
		child.on("close", () => {
			try {
				resolve(JSON.parse(said));
			} catch {
				resolve(null);
			}
		});
		child.stdin.end(JSON.stringify(event));
	});
}

export default function (pi) {
	pi.on("tool_call", async (event) => {
		const answer = await ask({ tool_name: event.toolName, tool_input: event.input });
		if (answer?.decision === "allow") return undefined;
		return { block: true, reason: answer?.reason ?? "glovebox: the gate could not be asked" };
	});
}
