// pass prints a line for a call that returned what it must, and ends the program otherwise.
export function pass(call: string, status: number, want: number, holds: boolean): void {
  if (status !== want || !holds) {
    throw new Error(`${call}: status ${status}, holds ${holds}`);
  }
  console.log("passed:", call);
}

export const base = process.env.API!;
export const authorization = "Bearer " + process.env.TOKEN!;
