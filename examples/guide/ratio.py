# Prints the forces of the plate on the pad from forces.csv of a run of press.json.
import csv
import sys

with open(sys.argv[1] + "/forces.csv", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        if row["b"] == "plate" and int(row["step"]) % 10 == 0:
            normal, rub = (sum(float(row[f"{kind}_{axis}"]) ** 2 for axis in "xyz") ** 0.5
                           for kind in ("normal", "friction"))
            print(f"t {float(row['time']):.2f} s  normal {normal:6.1f} N  friction/normal {rub / normal:.3f}")
